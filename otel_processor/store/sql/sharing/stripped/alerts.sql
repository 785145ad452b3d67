select * replace (
    short_name(task) as task,
    short_name(agent) as agent,
    short_name(tool) as tool,
    removed(message)::VARCHAR as message,
    stripped_object(evidence, getvariable('kept_evidence'), 4000) as evidence
)
from given
