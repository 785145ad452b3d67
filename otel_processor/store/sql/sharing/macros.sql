-- What stands in the place of content, and what may stay. The variables hold names that are known to be harmless:
-- known_names, of attributes and events; kept_names, of attributes whose values are numbers, ids, names; kept_evidence, likewise;
-- number_names, of attributes that are kept where they are numbers; patterns_in_words_of_ours, whose messages quote nobody.
create temp macro removed(value) as
    case when value is not null then json_object('length', length(value), 'sha256', sha256(value)) end;

-- A name stays where it is short: long ones are sentences.
create temp macro short_name(value) as
    case when length(value) <= 128 then value else removed(value)::VARCHAR end;

create temp macro known_name(name) as
    case when list_contains(getvariable('known_names'), name) then name else 'sha256:' || sha256(name) end;

create temp macro is_number(value) as json_type(value) in ('BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE');

create temp macro number_or_null(value) as case when is_number(value) then value end;

create temp macro hex_or_null(value) as case when regexp_full_match(value ->> '$', '[0-9a-f]{1,64}') then value ->> '$' end;

create temp macro is_short(value, longest) as
    is_number(value) or json_type(value) in ('BOOLEAN', 'NULL')
    or (json_type(value) in ('VARCHAR', 'ARRAY') and length(value::VARCHAR) <= longest);

-- An object with its harmless values; the others by their lengths and hashes.
create temp macro stripped_object(object, kept, longest) as
    case when object is not null then coalesce(
        try(to_json(map_from_entries(list_transform(
            map_entries(from_json(object, '"MAP(VARCHAR, JSON)"')),
            lambda e: {
                'k': known_name(e.key),
                'v': case
                    when list_contains(kept, e.key) and is_short(e.value, longest) then e.value
                    when list_contains(getvariable('number_names'), e.key) and is_number(e.value) then e.value
                    else removed(e.value ->> '$')
                end
            }
        )))),
        removed(object::VARCHAR)
    ) end;

create temp macro stripped_attributes(attributes) as
    stripped_object(attributes, getvariable('kept_names'), 200);

create temp macro stripped_events(events) as
    case when events is not null then coalesce(
        try(to_json(list_transform(
            from_json(events, '["JSON"]'),
            lambda e: json_object(
                'name', known_name(e ->> '$.name'),
                'time_unix_nano', number_or_null(e -> '$.time_unix_nano'),
                'attributes', stripped_attributes(e -> '$.attributes')
            )
        ))),
        '[]'::JSON
    ) end;

create temp macro stripped_links(links) as
    case when links is not null then coalesce(
        try(to_json(list_transform(
            from_json(links, '["JSON"]'),
            lambda l: json_object('trace_id', hex_or_null(l -> '$.trace_id'), 'span_id', hex_or_null(l -> '$.span_id'))
        ))),
        '[]'::JSON
    ) end;

-- What was cut is told by path: its hash and length stay, its name where it is known.
create temp macro stripped_cuts(cuts) as
    case when cuts is not null then try(to_json(map_from_entries(list_transform(
        map_entries(from_json(cuts, '"MAP(VARCHAR, JSON)"')),
        lambda e: {
            'k': case when starts_with(e.key, 'attributes.') then 'attributes.' || known_name(substr(e.key, 12))
                else 'sha256:' || sha256(e.key) end,
            'v': case
                when json_type(e.value -> '$.length') is not null then json_object(
                    'length', number_or_null(e.value -> '$.length'), 'sha256', hex_or_null(e.value -> '$.sha256')
                )
                else json_object('kept', number_or_null(e.value -> '$.kept'), 'of', number_or_null(e.value -> '$.of'))
            end
        }
    )))) end;

-- The message of an alert stays where it is made of our own words, numbers and short names of tools. One kind ends in a quotation:
-- of that the beginning stays. What has evidence of a kind that is not known may quote anything.
create temp macro message_in_our_words(message, pattern, tool, evidence) as
    case
        when not list_contains(getvariable('patterns_in_words_of_ours'), pattern)
            or not list_has_all(getvariable('known_names'), coalesce(json_keys(evidence), []))
            or greatest(
                coalesce(length(tool), 0),
                coalesce(length(evidence ->> '$.tool'), 0),
                coalesce(list_max(list_transform(from_json(evidence -> '$.tools', '["VARCHAR"]'), lambda t: length(t))), 0)
            ) > 128
            then removed(message)::VARCHAR
        when json_exists(evidence, '$.said_again') then coalesce(
            nullif(regexp_extract(message, '^[0-9]+ of the last [0-9]+ turns only said again what had been said before'), ''),
            removed(message)::VARCHAR
        )
        else message
    end;
