rule select_ppmi_sets:
    input:
        scan=ORIGINS.of_first_test("ppmi"),
    output:
        sets="results/origins/{setup}/ppmi/perturbation_sets.parquet",
    log:
        "results/logs/origins/{setup}/select_ppmi_sets.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.ppmi_selection),
    message:
        "{wildcards.setup}: select the documents that the PPMI baseline finds"
    shell:
        "biaslab step origins.select-ppmi-sets --given {params.given:q} > {log} 2>&1"


use rule measure_sets as measure_sets_by_ppmi with:
    input:
        embeddings=ORIGINS.embeddings(grid.ppmi_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/ppmi/observed.tsv",
    log:
        "results/logs/origins/{setup}/measure_sets_by_ppmi.log",
    message:
        "{wildcards.setup}: measure the bias without the documents that the PPMI baseline finds"


rule select_documents:
    input:
        differential_bias=ORIGINS.of_first_test("differential_bias"),
    output:
        sets="results/origins/{setup}/single_documents/sets.parquet",
    log:
        "results/logs/origins/{setup}/select_documents.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.single_selection, seed=config["seed"]),
    message:
        "{wildcards.setup}: select single documents"
    shell:
        "biaslab step origins.select-documents --given {params.given:q} > {log} 2>&1"


use rule measure_sets as measure_documents with:
    input:
        embeddings=ORIGINS.embeddings(grid.single_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/single_documents/observed.tsv",
    log:
        "results/logs/origins/{setup}/measure_documents.log",
    message:
        "{wildcards.setup}: measure the bias without single documents"


rule compare_documents:
    input:
        sets="results/origins/{setup}/single_documents/sets.parquet",
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/single_documents/observed.tsv",
        differential_bias=ORIGINS.of_first_test("differential_bias"),
    output:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        correlation="results/origins/{setup}/single_documents/correlation.tsv",
    log:
        "results/logs/origins/{setup}/compare_documents.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the estimates for single documents with paired retraining"
    shell:
        "biaslab step origins.compare-documents --given {params.given:q} > {log} 2>&1"
