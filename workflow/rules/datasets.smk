rule fetch_dataset:
    output:
        "results/datasets/{dataset}/{file}",
    log:
        "results/logs/datasets/{dataset}/{file}.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(240),
    params:
        registry=str(ROOT / "workflow/resources/datasets.tsv"),
        places=PLAN.dataset_options,
        sha256=PLAN.dataset_checksum,
    message:
        "fetch the dataset {wildcards.dataset}"
    shell:
        "biaslab datasets fetch {wildcards.dataset} --registry {params.registry:q} {params.places}"
        " --out {output:q} > {log:q} 2>&1"
