// A model server that answers every request with as much text as its path says: `/<bytes>/v1/…`. `/slow/…` sends one piece
// and then nothing more. Speaks both wires; prints its port. It lives in a process of its own, so that what is measured is the client alone.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const PIECE = "The quick brown fox jumps over the lazy dog. ".repeat(23).slice(0, 1_000);

const wires = {
  messages: {
    before: [
      [
        "message_start",
        {
          type: "message_start",
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "flood",
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
      ],
      ["content_block_start", { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }],
    ],
    piece: ["content_block_delta", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: PIECE } }],
    after: [
      ["content_block_stop", { type: "content_block_stop", index: 0 }],
      ["message_delta", { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } }],
      ["message_stop", { type: "message_stop" }],
    ],
  },
  completions: {
    before: [
      [
        "",
        {
          id: "c_1",
          object: "chat.completion.chunk",
          created: 1,
          model: "flood",
          choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
        },
      ],
    ],
    piece: [
      "",
      {
        id: "c_1",
        object: "chat.completion.chunk",
        created: 1,
        model: "flood",
        choices: [{ index: 0, delta: { content: PIECE }, finish_reason: null }],
      },
    ],
    after: [
      [
        "",
        {
          id: "c_1",
          object: "chat.completion.chunk",
          created: 1,
          model: "flood",
          choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        },
      ],
      ["", "[DONE]"],
    ],
  },
} as const;

function frame([name, data]: readonly [string, unknown]): string {
  return `${name === "" ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function send(response: ServerResponse, wire: (typeof wires)[keyof typeof wires], bytes: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(wire.before.map((event) => frame(event as never)).join(""));
  const piece = frame(wire.piece as never);
  // Some sixty kilobytes at once, as a fast network would.
  const block = piece.repeat(60);
  let left = Number.isFinite(bytes) ? bytes : piece.length;
  const more = (): void => {
    while (left > 0) {
      if (response.destroyed) return;
      const text = left >= block.length ? block : piece;
      left -= text.length;
      if (!response.write(text)) return void response.once("drain", more);
    }
    if (Number.isFinite(bytes)) response.end(wire.after.map((event) => frame(event as never)).join(""));
  };
  more();
}

const server = createServer((request, response) => {
  request.resume();
  const [, amount = ""] = (request.url ?? "").split("/");
  send(
    response,
    (request.url ?? "").endsWith("/messages") ? wires.messages : wires.completions,
    amount === "slow" ? Number.POSITIVE_INFINITY : Number(amount),
  );
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit());
