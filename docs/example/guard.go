package main // An agent that asks before each tool call: OTEL_PROCESSOR_URL=http://127.0.0.1:4318 go run guard.go

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type said map[string]any

var runID = fmt.Sprintf("go-%d", time.Now().UnixNano()) // set it on your spans too, as loop.run.id

func guard(event string, body said) (answer said) {
	body["run_id"], answer = runID, said{"action": "continue", "allowed": true} // the agent goes on where nobody answers
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest("POST", os.Getenv("OTEL_PROCESSOR_URL")+"/v1/guard/"+event, bytes.NewReader(text))
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + os.Getenv("OTEL_PROCESSOR_TOKEN")}}
	if response, err := (&http.Client{Timeout: 2 * time.Second}).Do(request); err == nil {
		defer response.Body.Close()
		json.NewDecoder(response.Body).Decode(&answer)
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
