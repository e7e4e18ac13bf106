# Whether the attributions can be believed: influence relative to the change of the model, documents that were planted to
# be found, and embeddings that know nothing.


wildcard_constraints:
    dose=r"[0-9][0-9.e-]*",
    kind="untrained|shuffled",


rule measure_relative_influence:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        differential_bias="results/origins/{setup}/differential_bias/{weat}.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/relative_influence/{weat}.parquet",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: measure every document's relative influence on {wildcards.weat}"
    shell:
        step("origins.measure-relative-influence")


rule compare_relative_influence:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
        relative=ORIGINS.of_tests("relative_influence"),
        documents="results/origins/{setup}/documents.parquet",
    output:
        comparison="results/origins/{setup}/relative_influence/comparison.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(),
    message:
        "{wildcards.setup}: compare the documents that relative influence puts first with those that influence does"
    shell:
        step("origins.compare-relative-influence")


rule plant_documents:
    input:
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out_corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        out_documents="results/origins/{setup}/planted/{dose}/documents.parquet",
        out_vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.planted, seed=config["seed"]),
    message:
        "{wildcards.setup}: plant documents whose tokens are words of the tests, a share of {wildcards.dose}"
    shell:
        step("origins.plant-documents")


use rule count_cooccurrences as count_planted with:
    input:
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
    output:
        out="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    message:
        "{wildcards.setup}: count co-occurrences with planted documents, dose {wildcards.dose}"


use rule train_baseline as train_planted with:
    input:
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
    output:
        out="results/origins/{setup}/planted/{dose}/embeddings/baseline/batch-{batch}.npz",
    params:
        given=given(ORIGINS.glove, ORIGINS.planted_batch, seed=config["seed"]),
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
        out="results/origins/{setup}/planted/{dose}/differential_bias/{weat}.parquet",
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
        scan="results/origins/{setup}/planted/{dose}/ppmi/{weat}.parquet",
    message:
        "{wildcards.setup}: measure planted documents by PPMI, {wildcards.weat}, dose {wildcards.dose}"


use rule measure_relative_influence as measure_relative_planted with:
    input:
        embeddings=ORIGINS.planted_embeddings,
        cooccurrence="results/origins/{setup}/planted/{dose}/cooccurrence.npz",
        corpus="results/origins/{setup}/planted/{dose}/corpus.npz",
        differential_bias="results/origins/{setup}/planted/{dose}/differential_bias/{weat}.parquet",
        vocabulary="results/origins/{setup}/planted/{dose}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/planted/{dose}/relative_influence/{weat}.parquet",
    message:
        "{wildcards.setup}: measure the relative influence of planted documents, {wildcards.weat}, dose {wildcards.dose}"


rule measure_recall:
    input:
        ORIGINS.planted_tables,
        documents=ORIGINS.planted_documents,
    output:
        recall="results/origins/{setup}/planted/recall.tsv",
        pairs="results/origins/{setup}/planted/pairs.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: see which attributions find the planted documents"
    shell:
        step("origins.measure-recall")


rule randomise_embeddings:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
    output:
        out="results/origins/{setup}/randomised/{kind}/embeddings.npz",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given("kind", ORIGINS.randomised, seed=config["seed"]),
    message:
        "{wildcards.setup}: make embeddings that know nothing, {wildcards.kind}"
    shell:
        step("origins.randomise-embeddings")


use rule estimate_differential_bias as estimate_randomised with:
    input:
        embeddings=["results/origins/{setup}/randomised/{kind}/embeddings.npz"],
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/randomised/{kind}/differential_bias/{weat}.parquet",
    message:
        "{wildcards.setup}: estimate {wildcards.weat} by embeddings that know nothing, {wildcards.kind}"


use rule predict_sets as predict_randomised with:
    input:
        embeddings=["results/origins/{setup}/randomised/{kind}/embeddings.npz"],
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/randomised/{kind}/predictions.tsv",
    message:
        "{wildcards.setup}: predict every set by embeddings that know nothing, {wildcards.kind}"


rule compare_randomised:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
        untrained=ORIGINS.of_tests("randomised/untrained/differential_bias"),
        shuffled=ORIGINS.of_tests("randomised/shuffled/differential_bias"),
        predictions="results/origins/{setup}/predictions.tsv",
        untrained_predictions="results/origins/{setup}/randomised/untrained/predictions.tsv",
        shuffled_predictions="results/origins/{setup}/randomised/shuffled/predictions.tsv",
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/observed.tsv",
    output:
        comparison="results/origins/{setup}/randomised/comparison.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare estimates by embeddings that know nothing with those by the baselines"
    shell:
        step("origins.compare-randomised")
