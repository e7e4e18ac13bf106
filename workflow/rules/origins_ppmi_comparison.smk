rule compare_ppmi:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        baseline="results/origins/{setup}/ppmi/baseline.tsv",
        random_sets="results/origins/{setup}/ppmi/word_sets.tsv",
        correlation="results/origins/{setup}/ppmi/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(ORIGINS.keys("ppmi_comparison", count="random_tests"), seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the bias in GloVe with that in the PPMI representation"
    shell:
        step("origins.compare-ppmi")
