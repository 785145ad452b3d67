package main // An agent that asks before each tool call: go run docs/example/guard.go

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type said map[string]any

var service, runID = cmp.Or(os.Getenv("OTEL_PROCESSOR_URL"), "http://127.0.0.1:4318"), fmt.Sprintf("go-%d", time.Now().UnixNano()) // loop.run.id of your spans

func guard(event string, body said) (answer said) {
	body["run_id"], answer = runID, said{"action": "continue", "allowed": true} // the agent goes on where nobody answers
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest("POST", service+"/v1/guard/"+event, bytes.NewReader(text))
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + os.Getenv("OTEL_PROCESSOR_TOKEN")}}
	response, err := (&http.Client{Timeout: 2 * time.Second}).Do(request)
	if err == nil {
		defer response.Body.Close()
		err = json.NewDecoder(response.Body).Decode(&answer)
	}
	if err != nil || response.StatusCode != 200 {
		fmt.Fprintln(os.Stderr, "not guarded, going on:", cmp.Or[any](err, answer["detail"]))
	}
	return answer
}

func main() {
	for step, answer := 1, (said{}); answer["action"] != "stop" && step <= 20; step++ {
		guard("step", said{"goal": "find the invoice of May"}) // … ask the model; here it always wants the same …
		answer = guard("before_tool", said{"tool": "search", "arguments": said{"query": "invoice May"}})
		fmt.Println(step, answer["action"], answer["stop_reason"], answer["message"])
		if answer["allowed"] == true {
			guard("after_tool", said{"call_id": answer["call_id"], "result": "nothing found"}) // … what the tool returned …
		} else {
			guard("skip_tool", said{"call_id": answer["call_id"]}) // the message is the call's result for the model
		}
	}
	guard("end", said{})
}
