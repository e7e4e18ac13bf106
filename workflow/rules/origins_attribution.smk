# How good the attributions are: predictions by baselines that did not choose (cross-fitting), and random subsets of
# the corpus, which nobody chose (the linear datamodeling score).


rule cross_fit:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        differential_bias=ORIGINS.of_tests("differential_bias"),
        perturbations="results/origins/{setup}/perturbations.tsv",
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/observed.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/cross_fitting.tsv",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence, ORIGINS.estimator, seed=config["seed"]),
    message:
        "{wildcards.setup}: predict sets by baselines that did not choose them"
    shell:
        step("origins.cross-fit")


rule draw_subsets:
    input:
        documents="results/origins/{setup}/documents.parquet",
    output:
        out="results/origins/{setup}/lds/subsets.parquet",
    priority: 3  # trainings wait for it
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.subsets, seed=config["seed"]),
    message:
        "{wildcards.setup}: draw random subsets of the corpus"
    shell:
        step("origins.draw-subsets")


rule retrain_subsets:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/lds/retrained/batch-{batch}.tsv",
    log:
        "results/logs/origins/{setup}/retrain_subsets/subsets/batch-{batch}.log",
    priority: 1  # many
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(1440),
    params:
        given=given(ORIGINS.glove, ORIGINS.subset_batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: retrain on subsets, batch {wildcards.batch}"
    shell:
        step("origins.retrain-sets")


use rule predict_sets as predict_subsets with:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/lds/predictions.tsv",
    message:
        "{wildcards.setup}: predict the bias on every subset"


use rule measure_ppmi_sets as measure_ppmi_subsets with:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        bias="results/origins/{setup}/lds/ppmi.tsv",
    message:
        "{wildcards.setup}: measure the bias by PPMI on every subset"


rule score_attributions:
    input:
        retrained=ORIGINS.retrained_subsets,
        subsets="results/origins/{setup}/lds/subsets.parquet",
        differential_bias=ORIGINS.of_tests("differential_bias"),
        ppmi=ORIGINS.of_tests("ppmi"),
        predictions="results/origins/{setup}/lds/predictions.tsv",
        ppmi_sets="results/origins/{setup}/lds/ppmi.tsv",
    output:
        removals="results/origins/{setup}/lds/removals.tsv",
        scores="results/origins/{setup}/lds/scores.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: score attributions by random subsets of the corpus"
    shell:
        step("origins.score-attributions")


# The fewest documents whose removal flips the sign of a test, predicted and retrained.


rule predict_flips:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        differential_bias=ORIGINS.of_tests("differential_bias"),
        ppmi=ORIGINS.of_tests("ppmi"),
        baseline="results/origins/{setup}/baseline.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        numbers="results/origins/{setup}/brittleness/numbers.tsv",
        paths="results/origins/{setup}/brittleness/paths.tsv",
        sets="results/origins/{setup}/brittleness/sets.parquet",
    priority: 3  # trainings wait for it
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence, ORIGINS.flips, seed=config["seed"]),
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
        "results/logs/origins/{setup}/retrain_flips/flips/batch-{batch}.log",
    params:
        given=given(ORIGINS.glove, ORIGINS.flip_batch, seed=config["seed"]),
    message:
        "{wildcards.setup}: retrain without what shall flip the sign, batch {wildcards.batch}"


rule compare_flips:
    input:
        retrained=ORIGINS.retrained_flips,
        sets="results/origins/{setup}/brittleness/sets.parquet",
        numbers="results/origins/{setup}/brittleness/numbers.tsv",
        paths="results/origins/{setup}/brittleness/paths.tsv",
        baseline="results/origins/{setup}/baseline.tsv",
    output:
        outcomes_table="results/origins/{setup}/brittleness/outcomes.tsv",
        brackets_table="results/origins/{setup}/brittleness/brackets.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: tell which removals flipped the sign of the bias"
    shell:
        step("origins.compare-flips")


# Single documents: which way the removal of each moves the bias.


rule score_documents:
    input:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        ppmi=ORIGINS.of_first_test("ppmi"),
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
