# biaslab: regenerates the tables and figures of fairness papers and audits their numbers.
#   snakemake --cores all                                             the embedded default (config.yaml)
#   snakemake --cores all --configfile workflow/presets/NAME.yaml     a preset, laid over config.yaml
from snakemake.utils import min_version

min_version("9.12")


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/reports.smk"


for area in filter(PLAN.has, PLAN.areas):

    include: f"workflow/rules/{area.name}.smk"


include: "workflow/rules/audit.smk"


rule all:
    default_target: True
    input:
        results_of(*RUN),
        rules.audit.input,
    message:
        "everything is there"


STEPS.update(mark_rules(workflow.rules))
