rule attribute_documents:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/differential_bias/{weat}.parquet",
        by_seed="results/origins/{setup}/differential_bias/by_seed/{weat}.parquet",
        scan="results/origins/{setup}/ppmi/{weat}.parquet",
    priority: 3  # most trainings depend on this step
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: attribute {wildcards.weat} to every document"
    shell:
        step("origins.attribute-documents")


rule predict_removals:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/predictions.tsv",
        ppmi="results/origins/{setup}/ppmi/sets.tsv",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: predict the bias after the removal of every set"
    shell:
        step("origins.predict-removals")


rule estimate_bias_gradient:
    input:
        "results/origins/{setup}/differential_bias/{weat}.parquet",
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        documents="results/origins/{setup}/documents.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
        strongest="results/origins/{setup}/bias_gradient/ends/{weat}.tsv",
        of_documents="results/origins/{setup}/bias_gradient/documents/{weat}.tsv",
    priority: 3  # most trainings depend on this step
    threads: LIMITS.threads(2)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given("setup", ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate the effect of every co-occurrence on {wildcards.weat}"
    shell:
        step("origins.estimate-gradient")
