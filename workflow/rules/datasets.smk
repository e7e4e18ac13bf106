from biaslab.run.data.datasets import places


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
            lambda wildcards: places(wildcards.dataset, PLAN.config["datasets"]),
            name="{dataset}",
            registry=str(ROOT / "workflow/resources/datasets.tsv"),
        ),
        sha256=lambda wildcards: PLAN.registry[wildcards.dataset].sha256,
    message:
        "fetch the dataset {wildcards.dataset}"
    shell:
        step("datasets.fetch-dataset")
