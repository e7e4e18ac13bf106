rule read_corpus:
    input:
        source=corpus_source,
    output:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    log:
        "results/logs/{setup}/read_corpus.log",
    benchmark:
        "results/benchmarks/{setup}/read_corpus.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(4000),
        runtime=480,
    params:
        options=corpus_options,
        checksum=corpus_checksum,
        min_count=lookup(dpath="setups/{setup}/vocabulary/min_count", within=config),
        code=CODE["read_corpus"],
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
        "results/logs/{setup}/count_cooccurrences.log",
    benchmark:
        "results/benchmarks/{setup}/count_cooccurrences.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(6000),
        runtime=120,
    params:
        window=lookup(dpath="setups/{setup}/glove/window", within=config),
        code=CODE["count_cooccurrences"],
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
        "results/logs/{setup}/train_baseline/batch-{batch}.log",
    benchmark:
        "results/benchmarks/{setup}/train_baseline/batch-{batch}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=720,
    params:
        glove=glove_options,
        batch=batch_options,
        seed=config["seed"],
        code=CODE["train"],
    message:
        "{wildcards.setup}: train baselines, batch {wildcards.batch}"
    shell:
        "biaslab embeddings train-glove --cooccurrence {input.cooccurrence} --set baseline {params.glove}"
        " {params.batch} --seed {params.seed} --threads {threads} --out {output} > {log} 2>&1"


rule train_without_set:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        sets=sets_of,
    output:
        "results/origins/{setup}/embeddings/{set}/batch-{batch}.npz",
    log:
        "results/logs/{setup}/train_without_set/{set}/batch-{batch}.log",
    benchmark:
        "results/benchmarks/{setup}/train_without_set/{set}/batch-{batch}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=720,
    params:
        glove=glove_options,
        batch=batch_options,
        paired=paired_option,
        seed=config["seed"],
        code=CODE["train"],
    message:
        "{wildcards.setup}: retrain without {wildcards.set}, batch {wildcards.batch}"
    shell:
        "biaslab embeddings train-glove --cooccurrence {input.cooccurrence} --corpus {input.corpus}"
        " --sets {input.sets} --set {wildcards.set} {params.glove} {params.batch} {params.paired} --seed {params.seed}"
        " --threads {threads} --out {output} > {log} 2>&1"


rule collect_losses:
    input:
        baseline_embeddings,
    output:
        "results/origins/{setup}/training.tsv",
    log:
        "results/logs/{setup}/collect_losses.log",
    benchmark:
        "results/benchmarks/{setup}/collect_losses.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        code=CODE["collect_losses"],
    message:
        "{wildcards.setup}: collect the loss of every epoch"
    shell:
        "biaslab embeddings collect-losses {input} --out {output} > {log} 2>&1"


rule measure_analogies:
    input:
        embeddings=every_embedding,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        "results/origins/{setup}/analogies.tsv",
    log:
        "results/logs/{setup}/measure_analogies.log",
    benchmark:
        "results/benchmarks/{setup}/measure_analogies.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=1440,
    params:
        code=CODE["measure_analogies"],
    message:
        "{wildcards.setup}: answer analogies"
    shell:
        "biaslab embeddings analogies {input.embeddings} --vocabulary {input.vocabulary} --out {output}"
        " > {log} 2>&1"
