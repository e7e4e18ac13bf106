# Whether the attributions can be believed: documents that were planted to be found.


wildcard_constraints:
    dose=r"[0-9][0-9.e-]*",


rule plant_documents:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    log:
        "results/logs/origins/{setup}/plant_documents/{dose}.log",
    benchmark:
        "results/benchmarks/origins/{setup}/plant_documents/{dose}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        weats=ORIGINS.weat_options,
        options=ORIGINS.planted_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: plant documents whose tokens are words of the tests, a share of {wildcards.dose}"
    shell:
        "biaslab origins plant-documents --corpus {input.corpus} --documents {input.documents}"
        " --vocabulary {input.vocabulary} {params.weats} {params.options} --seed {params.seed}"
        " --out-corpus {output.corpus} --out-documents {output.documents} --out-vocabulary {output.vocabulary}"
        " > {log} 2>&1"


use rule count_cooccurrences as count_planted with:
    input:
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    output:
        "results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    log:
        "results/logs/origins/{setup}/count_planted/{dose}.log",
    benchmark:
        "results/benchmarks/origins/{setup}/count_planted/{dose}.tsv"
    message:
        "{wildcards.setup}: count co-occurrences with planted documents, dose {wildcards.dose}"


use rule train_baseline as train_planted with:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    output:
        "results/origins/{setup}/planted/{dose}/embeddings/baseline/batch-{batch}.npz",
    log:
        "results/logs/origins/{setup}/train_planted/{dose}/batch-{batch}.log",
    benchmark:
        "results/benchmarks/origins/{setup}/train_planted/{dose}/batch-{batch}.tsv"
    params:
        glove=ORIGINS.glove_options,
        batch=ORIGINS.planted_batch_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: train with planted documents, dose {wildcards.dose}, batch {wildcards.batch}"


use rule estimate_differential_bias as estimate_planted with:
    input:
        embeddings=ORIGINS.planted_embeddings,
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        "results/origins/{setup}/planted/{dose}/differential_bias/{weat}.parquet",
    log:
        "results/logs/origins/{setup}/estimate_planted/{dose}/{weat}.log",
    benchmark:
        "results/benchmarks/origins/{setup}/estimate_planted/{dose}/{weat}.tsv"
    message:
        "{wildcards.setup}: estimate the differential bias of planted documents, {wildcards.weat}, dose {wildcards.dose}"


use rule scan_ppmi as scan_planted_ppmi with:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        "results/origins/{setup}/planted/{dose}/ppmi/{weat}.parquet",
    log:
        "results/logs/origins/{setup}/scan_planted_ppmi/{dose}/{weat}.log",
    benchmark:
        "results/benchmarks/origins/{setup}/scan_planted_ppmi/{dose}/{weat}.tsv"
    message:
        "{wildcards.setup}: measure planted documents by PPMI, {wildcards.weat}, dose {wildcards.dose}"


rule measure_recall:
    input:
        ORIGINS.planted_tables,
        documents=ORIGINS.planted_documents,
    output:
        recall="results/origins/{setup}/planted/recall.tsv",
        pairs="results/origins/{setup}/planted/pairs.tsv",
    log:
        "results/logs/origins/{setup}/measure_recall.log",
    benchmark:
        "results/benchmarks/origins/{setup}/measure_recall.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        seed=config["seed"],
    message:
        "{wildcards.setup}: see which attributions find the planted documents"
    shell:
        "biaslab origins recall {input.documents} --seed {params.seed} --pairs {output.pairs} --out {output.recall}"
        " > {log} 2>&1"
