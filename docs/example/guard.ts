// An agent that asks before each tool call: node docs/example/guard.ts (Node 22.18), npx tsx docs/example/guard.ts (Node 20)
type Action = "continue" | "compress" | "nudge" | "stop";
type Answer = { action: Action; allowed: boolean; message?: string; stop_reason?: string; call_id?: string };

const service = process.env.OTEL_PROCESSOR_URL || "http://127.0.0.1:4318";
const run_id = crypto.randomUUID(); // set it on your spans too, as loop.run.id
const headers = { "Content-Type": "application/json", Authorization: `Bearer ${process.env.OTEL_PROCESSOR_TOKEN}` };

async function guard(event: string, said: object = {}): Promise<Answer> {
  const body = JSON.stringify({ run_id, ...said });
  try {
    const signal = AbortSignal.timeout(2_000);
    const response = await fetch(`${service}/v1/guard/${event}`, { method: "POST", headers, body, signal });
    if (response.ok) return (await response.json()) as Answer;
    console.error("not guarded, going on:", await response.text());
  } catch (error) {
    console.error("not guarded, going on:", String((error as Error).cause ?? error));
  }
  return { action: "continue", allowed: true }; // the agent goes on where nobody answers
}
const search = async (query: string): Promise<string> => `nothing found for ${query}`;

async function main(): Promise<void> {
  await guard("start", { goal: "find the invoice of May", task: "invoices" });
  for (let step = 1; step <= 20; step++) {
    await guard("step");
    const call = { tool: "search", arguments: { query: "invoice May" } }; // … ask the model; here it always wants the same …
    await guard("turn", { input_tokens: 900, output_tokens: 30 });
    const { action, allowed, message, stop_reason, call_id } = await guard("before_tool", call);
    console.log(step, action, stop_reason, message);
    if (!allowed) await guard("skip_tool", { call_id }); // the message is the call's result for the model
    if (action === "stop") break;
    if (!allowed) continue;
    const came = await search(call.arguments.query).then((result) => ({ result }), (error) => ({ error: String(error) }));
    await guard("after_tool", { call_id, ...came });
  }
  await guard("end");
}

main();
