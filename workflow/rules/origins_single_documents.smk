# Single documents: which way the removal of each moves the bias.


rule select_documents:
    input:
        differential_bias=ORIGINS.of_first_test("differential_bias"),
    output:
        sets="results/origins/{setup}/single_documents/sets.parquet",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.single_selection, seed=config["seed"]),
    message:
        "{wildcards.setup}: select single documents"
    shell:
        step("origins.select-documents")


use rule measure_sets as measure_documents with:
    input:
        tables=ORIGINS.measured("measured", expansion.single_sets),
    output:
        out="results/origins/{setup}/single_documents/observed.tsv",
    message:
        "{wildcards.setup}: measure the bias without single documents"


rule compare_documents:
    input:
        sets="results/origins/{setup}/single_documents/sets.parquet",
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/single_documents/observed.tsv",
        differential_bias=ORIGINS.of_first_test("differential_bias"),
        by_seed=ORIGINS.of_first_test("differential_bias/by_seed"),
    output:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        correlation="results/origins/{setup}/single_documents/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the estimates for single documents with paired retraining"
    shell:
        step("origins.compare-documents")


rule score_documents:
    input:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        ppmi=ORIGINS.first_ppmi,
    output:
        out="results/origins/{setup}/single_documents/auc.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: tell documents that lower the bias from those that raise it"
    shell:
        step("origins.score-documents")
