# Control embeddings, which know nothing.


wildcard_constraints:
    kind="untrained|shuffled",


rule randomise_embeddings:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
    output:
        out="results/origins/{setup}/randomised/{kind}/embeddings.npz",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given("kind", ORIGINS.keys("randomised", count="embeddings"), seed=config["seed"]),
    message:
        "{wildcards.setup}: make control embeddings, {wildcards.kind}"
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
        by_seed="results/origins/{setup}/randomised/{kind}/differential_bias/by_seed/{weat}.parquet",
    message:
        "{wildcards.setup}: estimate {wildcards.weat} by control embeddings, {wildcards.kind}"


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
        "{wildcards.setup}: predict every set by control embeddings, {wildcards.kind}"


rule compare_randomised:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
        by_seed=ORIGINS.of_tests("differential_bias/by_seed"),
        untrained=ORIGINS.of_tests("randomised/untrained/differential_bias/by_seed"),
        shuffled=ORIGINS.of_tests("randomised/shuffled/differential_bias/by_seed"),
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
        "{wildcards.setup}: compare estimates by control embeddings with those by the baselines"
    shell:
        step("origins.compare-randomised")
