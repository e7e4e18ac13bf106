rule estimate_differential_bias:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/differential_bias/{weat}.parquet",
        by_seed="results/origins/{setup}/differential_bias/by_seed/{weat}.parquet",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat}"
    shell:
        step("origins.estimate-differential-bias")


rule predict_sets:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/predictions.tsv",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: predict the bias after the removal of every set"
    shell:
        step("origins.predict-sets")


rule scan_ppmi:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        scan="results/origins/{setup}/ppmi/{weat}.parquet",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure every document's differential bias of {wildcards.weat} by PPMI"
    shell:
        step("origins.scan-ppmi")
