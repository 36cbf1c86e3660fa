import { describe, expect, it } from "vitest";
import { exactMessage, exactMessages } from "./exact-message.ts";

const DIGITS = "1917043659912705296";

async function sent(body: string, isStream: boolean, size: number): Promise<string> {
  const bytes = new TextEncoder().encode(body);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size));
  return await new Response(new Blob(pieces).stream().pipeThrough(exactMessages(isStream))).text();
}

describe("the messages of a server", () => {
  it("hold integers that doubles do not keep as text, in content, structured content and metadata", () => {
    const text = `{"id":1,"result":{"structuredContent":{"id":${DIGITS},"n":5},"_meta":{"at":[-${DIGITS}]}}}`;
    expect(JSON.parse(exactMessage(text))).toEqual({
      id: 1,
      result: { structuredContent: { id: DIGITS, n: 5 }, _meta: { at: [`-${DIGITS}`] } },
    });
  });

  it("keep ids and the bounds of schemas as numbers, and constants as text", () => {
    const schema = `{"type":"integer","maximum":18446744073709551615,"enum":[${DIGITS}]}`;
    const text = `{"id":${DIGITS},"result":{"tools":[{"inputSchema":{"properties":{"id":${schema}}}}]}}`;
    expect(JSON.parse(exactMessage(text))).toEqual({
      id: Number(DIGITS),
      result: {
        tools: [{ inputSchema: { properties: { id: { type: "integer", maximum: Number("18446744073709551615"), enum: [DIGITS] } } } }],
      },
    });
    expect(exactMessage(`{"id":${DIGITS}`)).toBe(`{"id":${DIGITS}`);
  });

  it.each([1, 7, 1000])("are rewritten in bodies and in events, however they are cut (%i bytes)", async (size) => {
    expect(await sent(`{"result":{"é":${DIGITS}}}`, false, size)).toBe(`{"result":{"é":"${DIGITS}"}}`);
    const plain = `: hi\n\nid: 5\r\ndata: {"a":1}\r\n\r\n`;
    expect(await sent(`${plain}event: message\ndata: {"a":\ndata: ${DIGITS}}\n\ndata: {"b":2}\n\n`, true, size)).toBe(
      `${plain}event: message\ndata: {"a":\ndata: "${DIGITS}"}\n\ndata: {"b":2}\n\n`,
    );
  });
});
