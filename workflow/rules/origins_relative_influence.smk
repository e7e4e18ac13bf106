rule compare_relative_influence:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
        influence_by_seed=ORIGINS.of_tests("differential_bias/by_seed"),
        relative=ORIGINS.of_tests("relative_influence"),
        relative_by_seed=ORIGINS.of_tests("relative_influence/by_seed"),
        documents="results/origins/{setup}/documents.parquet",
    output:
        comparison="results/origins/{setup}/relative_influence/comparison.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(),
    message:
        "{wildcards.setup}: compare the documents that relative influence puts first with those that influence does"
    shell:
        step("origins.compare-relative-influence")
