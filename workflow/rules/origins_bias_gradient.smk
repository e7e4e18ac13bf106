rule estimate_bias_gradient:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
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


rule select_pairs:
    input:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
    output:
        out="results/origins/{setup}/bias_gradient/ends/{weat}.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: select the co-occurrences that matter most for {wildcards.weat}"
    shell:
        step("origins.select-pairs")
