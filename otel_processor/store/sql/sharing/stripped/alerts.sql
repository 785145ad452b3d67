select * replace (
    short_name(task) as task,
    short_name(agent) as agent,
    short_name(tool) as tool,
    message_in_our_words(message, pattern, tool, evidence) as message,
    stripped_object(evidence, getvariable('kept_evidence'), 4000) as evidence
)
from given
