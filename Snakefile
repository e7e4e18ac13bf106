# biaslab: regenerates the tables and figures of fairness papers and audits their numbers.
#   snakemake --cores all                                             the embedded default (config.yaml)
#   snakemake --cores all --configfile workflow/presets/NAME.yaml     a preset, laid over config.yaml
from snakemake.utils import min_version

min_version("9.12")


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/embeddings.smk"
include: "workflow/rules/origins.smk"
include: "workflow/rules/origins_retraining.smk"
include: "workflow/rules/ranking.smk"
include: "workflow/rules/origins_transfer.smk"
include: "workflow/rules/debiasing.smk"
include: "workflow/rules/fairness_testing.smk"


if {"debiasing", "origins"} <= set(config["areas"]):

    include: "workflow/rules/debiasing_origins.smk"


include: "workflow/rules/audit.smk"


rule all:
    default_target: True
    input:
        area_results(*config["areas"]),
        rules.audit.input,
    message:
        "everything is there"
