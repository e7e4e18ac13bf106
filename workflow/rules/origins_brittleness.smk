# Smallest number of documents that flip the sign of a test on removal, predicted and retrained.


rule predict_flips:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        differential_bias=ORIGINS.of_tests("differential_bias/by_seed"),
        ppmi=ORIGINS.of_tests("ppmi"),
        baseline="results/origins/{setup}/baseline.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        numbers="results/origins/{setup}/brittleness/numbers.tsv",
        paths="results/origins/{setup}/brittleness/paths.tsv",
        sets="results/origins/{setup}/brittleness/sets.parquet",
    priority: 3  # trainings depend on this step
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence, ORIGINS.keys("brittleness", "multiples"), seed=config["seed"]),
    message:
        "{wildcards.setup}: predict how many documents flip the sign of the bias"
    shell:
        step("origins.predict-flips")


use rule retrain_subsets as retrain_flips with:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/brittleness/sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/brittleness/retrained/batch-{batch}.tsv",
    log:
        "results/logs/origins/{setup}/retrain_flips/brittleness/batch-{batch}.log",
    params:
        given=given(ORIGINS.glove, ORIGINS.retrained_batch("brittleness"), seed=config["seed"]),
    message:
        "{wildcards.setup}: retrain without the sets predicted to flip the sign, batch {wildcards.batch}"


rule compare_flips:
    input:
        retrained=ORIGINS.retrained("brittleness"),
        sets="results/origins/{setup}/brittleness/sets.parquet",
        numbers="results/origins/{setup}/brittleness/numbers.tsv",
        paths="results/origins/{setup}/brittleness/paths.tsv",
        baseline="results/origins/{setup}/baseline.tsv",
    output:
        outcomes_table="results/origins/{setup}/brittleness/outcomes.tsv",
        brackets_table="results/origins/{setup}/brittleness/brackets.tsv",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: report which removals flip the sign of the bias"
    shell:
        step("origins.compare-flips")
