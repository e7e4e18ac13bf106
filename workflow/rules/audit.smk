CLAIMS = sorted(str(path) for path in (ROOT / "workflow/resources/claims").glob("*.tsv"))


rule record_config:
    output:
        "results/config.json",
    log:
        "results/logs/record_config.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(500),
        runtime=5,
    params:
        json=json.dumps(EXPERIMENT, indent=2, sort_keys=True),
    message:
        "record the configuration"
    shell:
        "printf '%s\\n' {params.json:q} > {output} 2> {log}"


rule measure_claims:
    input:
        measured,
        area_results(*config["areas"]),
        claims=CLAIMS,
        schema=ROOT / "workflow/schemas/claims.schema.yaml",
    output:
        "results/audit/claims.tsv",
    log:
        "results/logs/measure_claims.log",
    benchmark:
        "results/benchmarks/measure_claims.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        setups=run_options,
        absent=absent_options,
        code=CODE["measure_claims"],
    message:
        "measure every published claim"
    shell:
        "biaslab audit claims {input.claims:q} --schema {input.schema:q} --results results {params.setups}"
        " {params.absent} --out {output} > {log} 2>&1"


rule write_audit_page:
    input:
        "results/audit/claims.tsv",
    output:
        report(
            "results/audit/audit.html",
            caption="../report/audit.rst",
            category="Audit",
            labels={"item": "Published claims"},
        ),
    log:
        "results/logs/write_audit_page.log",
    benchmark:
        "results/benchmarks/write_audit_page.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["write_audit_page"],
    message:
        "write the audit's page"
    shell:
        "biaslab audit html {input} --out {output} > {log} 2>&1"


rule write_manifest:
    input:
        area_results(*config["areas"]),
        "results/audit/claims.tsv",
        "results/audit/audit.html",
        config="results/config.json",
    output:
        "results/audit/manifest.json",
    log:
        "results/logs/write_manifest.log",
    benchmark:
        "results/benchmarks/write_manifest.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=60,
    params:
        options=manifest_options,
    message:
        "record what made the results"
    shell:
        "biaslab audit manifest results --config {input.config} {params.options} --out {output} > {log} 2>&1"


rule audit:
    input:
        "results/audit/claims.tsv",
        "results/audit/audit.html",
        "results/audit/manifest.json",
    message:
        "the audit of every published claim"
