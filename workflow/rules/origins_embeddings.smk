rule read_corpus:
    input:
        source=ORIGINS.corpus_source,
    output:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    log:
        "results/logs/origins/{setup}/read_corpus.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        options=ORIGINS.corpus_options,
        checksum=ORIGINS.corpus_checksum,
        min_count=lookup(dpath="setups/{setup}/vocabulary/min_count", within=config),
    message:
        "{wildcards.setup}: read the corpus"
    shell:
        "biaslab embeddings read-corpus {input.source:q} {params.options} --min-count {params.min_count}"
        " --corpus {output.corpus} --documents {output.documents} --vocabulary {output.vocabulary} > {log} 2>&1"


rule count_cooccurrences:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        "results/origins/{setup}/cooccurrence.npz",
    log:
        "results/logs/origins/{setup}/count_cooccurrences.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(6000),
        runtime=LIMITS.minutes(120),
    params:
        window=lookup(dpath="setups/{setup}/glove/window", within=config),
    message:
        "{wildcards.setup}: count co-occurrences"
    shell:
        "biaslab embeddings count-cooccurrences {input.corpus} --vocabulary {input.vocabulary}"
        " --window {params.window} --threads {threads} --out {output} > {log} 2>&1"


rule train_baseline:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
    output:
        "results/origins/{setup}/embeddings/baseline/batch-{batch}.npz",
    log:
        "results/logs/origins/{setup}/train_baseline/batch-{batch}.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        glove=ORIGINS.glove_options,
        batch=ORIGINS.batch_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: train baselines, batch {wildcards.batch}"
    shell:
        "biaslab embeddings train-glove --cooccurrence {input.cooccurrence} --set baseline {params.glove}"
        " {params.batch} --seed {params.seed} --threads {threads} --out {output} > {log} 2>&1"


rule train_without_set:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        sets=ORIGINS.sets_of,
    output:
        "results/origins/{setup}/embeddings/{set}/batch-{batch}.npz",
    log:
        "results/logs/origins/{setup}/train_without_set/{set}/batch-{batch}.log",
    priority: 1  # many, and others wait for them
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(720),
    params:
        glove=ORIGINS.glove_options,
        batch=ORIGINS.batch_options,
        paired=ORIGINS.paired_option,
        seed=config["seed"],
    message:
        "{wildcards.setup}: retrain without {wildcards.set}, batch {wildcards.batch}"
    shell:
        "biaslab embeddings train-glove --cooccurrence {input.cooccurrence} --corpus {input.corpus}"
        " --sets {input.sets} --set {wildcards.set} {params.glove} {params.batch} {params.paired} --seed {params.seed}"
        " --threads {threads} --out {output} > {log} 2>&1"


rule collect_losses:
    input:
        ORIGINS.embeddings(grid.baseline_sets),
    output:
        "results/origins/{setup}/training.tsv",
    log:
        "results/logs/origins/{setup}/collect_losses.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    message:
        "{wildcards.setup}: collect the loss of every epoch"
    shell:
        "biaslab embeddings collect-losses {input} --out {output} > {log} 2>&1"


rule measure_analogies:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets, grid.perturbation_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        "results/origins/{setup}/analogies.tsv",
    log:
        "results/logs/origins/{setup}/measure_analogies.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(1440),
    message:
        "{wildcards.setup}: answer analogies"
    shell:
        "biaslab embeddings analogies {input.embeddings} --vocabulary {input.vocabulary} --out {output}"
        " > {log} 2>&1"
