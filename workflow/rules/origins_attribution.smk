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
        "results/origins/{setup}/cross_fitting.tsv",
    log:
        "results/logs/origins/{setup}/cross_fit.log",
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        weats=ORIGINS.weat_options,
        bias=ORIGINS.repeated_input("differential_bias"),
        estimator=lookup(dpath="setups/{setup}/perturbations/estimator", within=config),
        options=ORIGINS.influence_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: predict sets by baselines that did not choose them"
    shell:
        "biaslab origins cross-fit {input.embeddings} --cooccurrence {input.cooccurrence} --corpus {input.corpus}"
        " --vocabulary {input.vocabulary} {params.weats} {params.bias} --estimator {params.estimator}"
        " --perturbations {input.perturbations} --baseline {input.baseline} --observed {input.observed}"
        " {params.options} --seed {params.seed} --threads {threads} --out {output} > {log} 2>&1"


rule draw_subsets:
    input:
        documents="results/origins/{setup}/documents.parquet",
    output:
        "results/origins/{setup}/lds/subsets.parquet",
    log:
        "results/logs/origins/{setup}/draw_subsets.log",
    priority: 3  # trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        options=ORIGINS.subset_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: draw random subsets of the corpus"
    shell:
        "biaslab origins draw-subsets --documents {input.documents} {params.options} --seed {params.seed}"
        " --out {output} > {log} 2>&1"


rule retrain_subsets:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/lds/retrained/batch-{batch}.tsv",
    log:
        "results/logs/origins/{setup}/retrain_subsets/subsets/batch-{batch}.log",
    priority: 1  # many
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(1440),
    params:
        weats=ORIGINS.weat_options,
        glove=ORIGINS.glove_options,
        batch=ORIGINS.subset_batch_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: retrain on subsets, batch {wildcards.batch}"
    shell:
        "biaslab origins retrain-sets --cooccurrence {input.cooccurrence} --corpus {input.corpus}"
        " --vocabulary {input.vocabulary} --sets {input.sets} {params.weats} {params.glove} {params.batch}"
        " --seed {params.seed} --threads {threads} --out {output} > {log} 2>&1"


use rule predict_sets as predict_subsets with:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/lds/subsets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/lds/predictions.tsv",
    log:
        "results/logs/origins/{setup}/predict_subsets.log",
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
    log:
        "results/logs/origins/{setup}/measure_ppmi_subsets.log",
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
    log:
        "results/logs/origins/{setup}/score_attributions.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: score attributions by random subsets of the corpus"
    shell:
        "biaslab step origins.score-attributions --given {params.given:q} > {log} 2>&1"


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
    log:
        "results/logs/origins/{setup}/predict_flips.log",
    priority: 3  # trainings wait for it
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        weats=ORIGINS.weat_options,
        bias=ORIGINS.repeated_input("differential_bias"),
        ppmi=ORIGINS.repeated_input("ppmi"),
        options=ORIGINS.influence_options,
        flips=ORIGINS.flip_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: predict how many documents flip the sign of the bias"
    shell:
        "biaslab origins predict-flips {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --vocabulary {input.vocabulary} {params.weats} {params.bias} {params.ppmi}"
        " --baseline {input.baseline} {params.options} {params.flips} --seed {params.seed} --threads {threads}"
        " --numbers {output.numbers} --paths {output.paths} --sets {output.sets} > {log} 2>&1"


use rule retrain_subsets as retrain_flips with:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/brittleness/sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/brittleness/retrained/batch-{batch}.tsv",
    log:
        "results/logs/origins/{setup}/retrain_flips/flips/batch-{batch}.log",
    params:
        weats=ORIGINS.weat_options,
        glove=ORIGINS.glove_options,
        batch=ORIGINS.flip_batch_options,
        seed=config["seed"],
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
    log:
        "results/logs/origins/{setup}/compare_flips.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "{wildcards.setup}: tell which removals flipped the sign of the bias"
    shell:
        "biaslab step origins.compare-flips --given {params.given:q} > {log} 2>&1"


# Single documents: which way the removal of each moves the bias.


rule score_documents:
    input:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        ppmi=ORIGINS.of_first_test("ppmi"),
    output:
        "results/origins/{setup}/single_documents/auc.tsv",
    log:
        "results/logs/origins/{setup}/score_documents.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        seed=config["seed"],
    message:
        "{wildcards.setup}: tell documents that lower the bias from those that raise it"
    shell:
        "biaslab origins score-documents --documents {input.documents} --ppmi {input.ppmi}"
        " --seed {params.seed} --out {output} > {log} 2>&1"
