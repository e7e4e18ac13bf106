rule select_ppmi_sets:
    input:
        scan=ORIGINS.of_first_test("ppmi"),
    output:
        sets="results/origins/{setup}/ppmi/perturbation_sets.parquet",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.keys("ppmi_sets", "sizes")),
    message:
        "{wildcards.setup}: select the documents that the PPMI baseline finds"
    shell:
        step("origins.select-ppmi-sets")


use rule measure_sets as measure_sets_by_ppmi with:
    input:
        tables=ORIGINS.measured("measured", expansion.ppmi_sets),
    output:
        out="results/origins/{setup}/ppmi/observed.tsv",
    message:
        "{wildcards.setup}: measure the bias without the documents that the PPMI baseline finds"
