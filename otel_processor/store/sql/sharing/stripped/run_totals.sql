select * replace (
    short_name(last_tool) as last_tool,
    list_transform(models, lambda m: short_name(m)) as models
)
from given
