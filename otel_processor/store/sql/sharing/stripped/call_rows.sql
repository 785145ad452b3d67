select * replace (
    short_name(agent) as agent,
    short_name(tool) as tool,
    short_name(call_id) as call_id,
    removed(arguments)::VARCHAR as arguments,
    removed(result)::VARCHAR as result,
    removed(error_message)::VARCHAR as error_message,
    short_name(model) as model,
    short_name(provider) as provider,
    short_name(finish_reason) as finish_reason,
    case when evidence is not null then json_object(
        'raw_hash', hex_or_null(evidence -> '$.raw_hash'),
        'fingerprint', hex_or_null(evidence -> '$.fingerprint'),
        'length', number_or_null(evidence -> '$.length')
    ) end as evidence,
    'off' as content
)
from given
