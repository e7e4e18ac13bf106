from biaslab.run.areas import AREAS
from biaslab.run.command import repeated

# The areas of which something is there in the end, and the digest of the code behind each rule.
RUN = [area.name for area in PLAN.areas if PLAN.whole(area)]
STEPS = {}
CLAIMS, PRINTED, PAPERS = (
    [str(ROOT / "workflow/resources" / folder / f"{area}.tsv") for area in AREAS]
    for folder in ("claims", "printed", "papers")
)


rule record_config:
    output:
        "results/config.json",
    log:
        "results/logs/audit/record_config.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(500),
        runtime=LIMITS.minutes(5),
    params:
        json=json.dumps(PLAN.record(), indent=2, sort_keys=True),
    message:
        "record the configuration"
    shell:
        "printf '%s\\n' {params.json:q} > {output} 2> {log}"


rule measure_claims:
    input:
        results_of(*RUN),
        claims=CLAIMS,
        schema=ROOT / "workflow/schemas/claims.schema.yaml",
    output:
        "results/audit/claims.tsv",
    log:
        "results/logs/audit/measure_claims.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        results=folder("results/"),
        units=PLAN.claims_options(),
    message:
        "measure every published claim"
    shell:
        "biaslab audit claims {input.claims:q} --schema {input.schema:q} --results {params.results} {params.units}"
        " --out {output} > {log} 2>&1"


rule summarize_claims:
    input:
        PRINTED,
        PAPERS,
        claims="results/audit/claims.tsv",
    output:
        multiext("results/audit/summary", ".tsv", ".md", ".tex"),
    log:
        "results/logs/audit/summarize_claims.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(10),
    params:
        sources=[*repeated("printed", PRINTED), *repeated("papers", PAPERS)],
        stem=subpath(output[0], strip_suffix=".tsv"),
    message:
        "count what was found of what the papers print"
    shell:
        "biaslab audit summary {input.claims} {params.sources} --out {params.stem} > {log} 2>&1"


rule write_audit_page:
    input:
        PRINTED,
        PAPERS,
        claims="results/audit/claims.tsv",
    output:
        report(
            "results/audit/audit.html",
            caption="../report/audit.rst",
            category="Audit",
            labels={"item": "Published claims"},
        ),
    log:
        "results/logs/audit/write_audit_page.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(10),
    params:
        sources=[*repeated("printed", PRINTED), *repeated("papers", PAPERS)],
    message:
        "write the audit's page"
    shell:
        "biaslab audit html {input.claims} {params.sources} --out {output} > {log} 2>&1"


rule write_manifest:
    input:
        results_of(*RUN),
        "results/audit/claims.tsv",
        "results/audit/audit.html",
        rules.summarize_claims.output,
        config="results/config.json",
    output:
        "results/audit/manifest.json",
    log:
        "results/logs/audit/write_manifest.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(60),
    params:
        results=folder("results/"),
        inputs=PLAN.manifest_options(),
        digests=lambda wildcards: [f"--code {name}={digest}" for name, digest in STEPS.items()],
    message:
        "record what made the results"
    shell:
        "biaslab audit manifest {params.results} --config {input.config} {params.digests} {params.inputs} --out {output} > {log} 2>&1"


rule audit:
    input:
        "results/audit/claims.tsv",
        "results/audit/audit.html",
        rules.summarize_claims.output,
        "results/audit/manifest.json",
    message:
        "the audit of every published claim"
