rule measure_seed_stability:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias/by_seed"),
    output:
        stability_table="results/origins/{setup}/seed_stability.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: measure how far the ranking of documents depends on the seeds"
    shell:
        step("origins.measure-seed-stability")
