// An agent in JavaScript that asks its model and the same tool again and again. It says the ids of its spans, one a line.

"use strict";

const { trace, SpanKind } = require("@opentelemetry/api");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");

// Where to, the token and gzip are read from the environment, as every SDK does it.
const exporters = {
  grpc: "@opentelemetry/exporter-trace-otlp-grpc",
  "http/protobuf": "@opentelemetry/exporter-trace-otlp-proto",
  "http/json": "@opentelemetry/exporter-trace-otlp-http",
};

const TURNS = 6;

async function work(tracer) {
  const ids = [];

  const inSpan = (name, options, body = () => {}) =>
    tracer.startActiveSpan(name, options, async (span) => {
      ids.push(span.spanContext().spanId);
      await body(span);
      span.end();
    });

  const root = { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk" } };
  await inSpan("invoke_agent clerk", root, async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const model = {
        kind: SpanKind.CLIENT,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "m-1",
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.output_tokens": 10,
          "gen_ai.response.finish_reasons": ["tool_call"],
        },
      };
      await inSpan("chat m-1", model);
      const tool = {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "lookup_order",
          "gen_ai.tool.call.arguments": JSON.stringify({ order_id: "demo-001" }),
        },
      };
      await inSpan("execute_tool lookup_order", tool, (span) => {
        span.setAttribute("gen_ai.tool.call.result", "not found yet");
      });
    }
  });
  return ids;
}

async function main() {
  const { OTLPTraceExporter } = require(exporters[process.env.OTEL_EXPORTER_OTLP_PROTOCOL]);
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
  provider.register();
  const ids = await work(trace.getTracer("agent"));
  await provider.forceFlush();
  await provider.shutdown();
  console.log(ids.join("\n"));
}

main();
