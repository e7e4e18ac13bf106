rule fetch_dataset:
    output:
        out="results/datasets/{dataset}/{file}",
    log:
        "results/logs/datasets/{dataset}/{file}.log",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(
            PLAN.dataset_places, name="{dataset}", registry=str(ROOT / "workflow/resources/datasets.tsv")
        ),
        sha256=PLAN.dataset_checksum,
    message:
        "fetch the dataset {wildcards.dataset}"
    shell:
        step("datasets.fetch-dataset")
