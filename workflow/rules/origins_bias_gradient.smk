rule estimate_bias_gradient:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
        strongest="results/origins/{setup}/bias_gradient/ends/{weat}.tsv",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(2)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate every co-occurrence's effect on {wildcards.weat}"
    shell:
        step("origins.estimate-bias-gradient")
