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

var service, runID = cmp.Or(os.Getenv("OTEL_PROCESSOR_URL"), "http://127.0.0.1:4318"), fmt.Sprintf("go-%d", time.Now().UnixNano()) // loop.run.id of your spans
func guard(event string, body map[string]any) (answer map[string]any) {
	body["run_id"], answer = runID, map[string]any{"action": "continue", "allowed": true} // the agent goes on where nobody answers
	text, _ := json.Marshal(body)
	request, err := http.NewRequest("POST", service+"/v1/guard/"+event, bytes.NewReader(text))
	if err != nil || request.URL.Host == "" {
		fmt.Fprintf(os.Stderr, "OTEL_PROCESSOR_URL is %q, which is no address like http://127.0.0.1:4318\n", service)
		os.Exit(2)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + os.Getenv("OTEL_PROCESSOR_TOKEN")}}
	if response, err := (&http.Client{Timeout: 2 * time.Second}).Do(request); err != nil {
		fmt.Fprintln(os.Stderr, "not guarded, going on:", err)
	} else if err = cmp.Or(json.NewDecoder(response.Body).Decode(&answer), response.Body.Close()); err != nil || response.StatusCode != 200 {
		fmt.Fprintln(os.Stderr, "not guarded, going on:", cmp.Or[any](err, answer["detail"]))
	}
	return answer
}
func main() {
	for step, answer := 1, (map[string]any{}); answer["action"] != "stop" && step <= 20; step++ {
		guard("step", map[string]any{"goal": "find the invoice of May"}) // … ask the model; here it always wants the same …
		if answer = guard("before_tool", map[string]any{"tool": "search", "arguments": map[string]any{"query": "invoice May"}}); answer["allowed"] == true {
			guard("after_tool", map[string]any{"call_id": answer["call_id"], "result": "nothing found"}) // … what the tool returned …
		} else {
			guard("skip_tool", map[string]any{"call_id": answer["call_id"]}) // the message is the call's result for the model
		}
		fmt.Println(step, answer["action"], answer["stop_reason"], answer["message"])
	}
	guard("end", map[string]any{})
}
