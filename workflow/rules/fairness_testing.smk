from biaslab.fairness_testing.inputs import Inputs as TestingInputs

TESTING = TestingInputs(PLAN)


include: "fairness_testing_text.smk"


wildcard_constraints:
    classifier="|".join(TESTING.classifiers),


rule prepare_classifier:
    input:
        data=TESTING.file("data"),
        schema=TESTING.file("schema"),
        network=TESTING.file("network"),
        clusters=TESTING.file("clusters"),
    output:
        "results/fairness_testing/{classifier}/network.npz",
        "results/fairness_testing/{classifier}/data.npz",
        "results/fairness_testing/{classifier}/classifiers.tsv",
    log:
        "results/logs/fairness_testing/{classifier}/prepare_classifier.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/fairness_testing/{classifier}"),
        options=TESTING.options("seeds", "training_epochs"),
        files=TESTING.named("network", "clusters"),
        seed=config["seed"],
    message:
        "{wildcards.classifier}: encode the data and read or train the network"
    shell:
        "biaslab fairness-testing experiment prepare {input.data:q} --schema {input.schema:q} {params.files}"
        " --results {params.folder} {params.options} --seed {params.seed}"
        " > {log} 2>&1"


rule search_discrimination:
    input:
        rules.prepare_classifier.output,
        schema=TESTING.file("schema"),
        published_bounds=TESTING.file("published_bounds"),
    output:
        expand(
            "results/fairness_testing/{{classifier}}/{name}.tsv",
            name=["counts", "curves", "local", "ablation", "fairness", "steps", "pairs"],
        ),
        found="results/fairness_testing/{classifier}/found.npz",
    log:
        "results/logs/fairness_testing/{classifier}/search_discrimination.log",
    priority: 1  # long, and others wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2500),
        runtime=LIMITS.minutes(120),
    params:
        folder=folder("results/fairness_testing/{classifier}"),
        options=TESTING.options(
            "hops", "ablation_hops", "repetitions", "explanations", "uniform_samples", "local_seeds"
        ),
        files=TESTING.named("schema", "published_bounds"),
        seed=config["seed"],
    message:
        "{wildcards.classifier}: search for discriminatory samples"
    shell:
        "biaslab fairness-testing experiment search {params.folder}"
        " {params.options} {params.files} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule compare_at_budgets:
    input:
        rules.prepare_classifier.output,
        schema=TESTING.file("schema"),
        published_bounds=TESTING.file("published_bounds"),
    output:
        "results/fairness_testing/{classifier}/budgets.tsv",
        "results/fairness_testing/{classifier}/suites.tsv",
    log:
        "results/logs/fairness_testing/{classifier}/compare_at_budgets.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/fairness_testing/{classifier}"),
        options=TESTING.options("query_budgets", "budget_hops", "repetitions"),
        files=TESTING.named("schema", "published_bounds"),
        seed=config["seed"],
    message:
        "{wildcards.classifier}: compare testers at equal numbers of queries"
    shell:
        "biaslab fairness-testing experiment budgets {params.folder}"
        " {params.options} {params.files} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule retrain_classifier:
    input:
        rules.prepare_classifier.output,
        rules.search_discrimination.output.found,
        schema=TESTING.file("schema"),
    output:
        "results/fairness_testing/{classifier}/retraining.tsv",
    log:
        "results/logs/fairness_testing/{classifier}/retrain_classifier.log",
    priority: 1  # long, and others wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/fairness_testing/{classifier}"),
        options=TESTING.options("retrainings", "retraining_share", "uniform_samples"),
        files=TESTING.named("schema"),
        seed=config["seed"],
    message:
        "{wildcards.classifier}: retrain with what was found"
    shell:
        "biaslab fairness-testing experiment retrain {params.folder}"
        " {params.options} {params.files} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule fairness_testing:
    input:
        rules.report_fairness_testing.output,
        expand(rules.search_discrimination.output, classifier=TESTING.classifiers),
    message:
        "all tables and figures of fairness testing"
