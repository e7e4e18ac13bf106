from biaslab.run.areas import AREAS
from biaslab.run.record.manifest import PLANNED

# The areas that run, and the digest of the code behind each rule.
RUN = [area.name for area in PLAN.areas if PLAN.has(area)]
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
    priority: 9  # a run that has not ended is packed with it
    localrule: True
    resources:
        mem_mb=LIMITS.memory(500),
        runtime=LIMITS.minutes(5),
    params:
        json=json.dumps(PLAN.record(), indent=2, sort_keys=True),
    message:
        "record the configuration"
    shell:
        "printf '%s\\n' {params.json:q} > {output} 2> {log}"


rule audit:
    input:
        results_of(*RUN),
        registries=CLAIMS,
        schema=ROOT / "workflow/schemas/claims.schema.yaml",
        printed=PRINTED,
        papers=PAPERS,
        config="results/config.json",
    output:
        multiext("results/audit/summary", ".tsv", ".md", ".tex"),
        claims="results/audit/claims.tsv",
        page=report(
            "results/audit/audit.html",
            caption="../report/audit.rst",
            category="Audit",
            labels={"item": "Published claims"},
        ),
        manifest="results/audit/manifest.json",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            results="results/",
            planned=f"results/{PLANNED}",
            units=PLAN.audited(),
            record={
                "inputs": PLAN.inputs(),
                "known_inputs": PLAN.known_inputs(),
                "code": STEPS,
                "lost": PLAN.not_made(),
            },
        ),
    message:
        "measure every published claim, and record what made the results"
    shell:
        step("audit.audit-run")
