select * replace (
    short_name(task) as task,
    short_name(task_type) as task_type,
    short_name(agent) as agent,
    short_name(service) as service
)
from given
