import { describe, expect, it } from "vitest";
import { readAttachedImage } from "./attached-image.ts";
import { type Attachments, createAttachments } from "./attachments.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAC0lEQVR4nGNgQAYAAA4AAamRc7EAAAAASUVORK5CYII=", "base64");
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

function setUp(files: { readonly [path: string]: Uint8Array }): Attachments {
  return createAttachments({
    cwd: () => "/project",
    home: "/home/me",
    async read(path) {
      const bytes = files[path];
      if (bytes === undefined) throw new Error(`there is no ${path}`);
      return bytes;
    },
  });
}

describe("createAttachments", () => {
  it("puts an image of the clipboard in the place of its marker", async () => {
    const attachments = setUp({});
    const marker = attachments.add(readAttachedImage(PNG, "clipboard"));
    const { content, sent, problems } = await attachments.attach(`see ${marker} and fix it`);
    expect(content).toEqual([
      { type: "text", text: "see [image #1]" },
      { type: "image", mediaType: "image/png", data: PNG.toString("base64") },
      { type: "text", text: " and fix it" },
    ]);
    expect([sent, problems]).toEqual([["image #1: clipboard 2×3"], []]);
  });

  it("sends an image that two markers name once, and no text without characters", async () => {
    const attachments = setUp({});
    const marker = attachments.add(readAttachedImage(PNG, "clipboard"));
    const { content } = await attachments.attach(`${marker}\n`);
    expect(content).toHaveLength(2);
    const { content: twice } = await attachments.attach(`${marker} is like ${marker}`);
    expect(Array.isArray(twice) && twice.map(({ type }) => type)).toEqual(["text", "image", "text"]);
  });

  it("leaves a marker without an image as text, and reports it", async () => {
    const { content, problems } = await setUp({}).attach("what is [image #7]?");
    expect(content).toBe("what is [image #7]?");
    expect(problems).toEqual([
      "[image #7] is not available: there is no such image, or 20 newer ones replaced it. Paste it again, or name its file.",
    ]);
  });

  it("attaches the files that a message names", async () => {
    const attachments = setUp({ "/project/shots/a b.png": PNG, "/home/me/x.gif": GIF, "/tmp/My Shot.png": PNG });
    const { content, sent } = await attachments.attach('compare @"shots/a b.png", ~/x.gif and /tmp/My\\ Shot.png.');
    expect(sent).toEqual(["image #1: a b.png 2×3", "image #2: x.gif 1×1", "image #3: My Shot.png 2×3"]);
    expect(Array.isArray(content) && content.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
      "compare [image #1]",
      ", [image #2]",
      " and [image #3]",
      ".",
    ]);
  });

  it("leaves a path without a file as text, and reports a file that is no image or too large", async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(4_000_000)]);
    const attachments = setUp({ "/project/text.png": Buffer.from("text"), "/project/large.png": large });
    const { content, sent, problems } = await attachments.attach("@missing.png @text.png @large.png");
    expect([content, sent]).toEqual(["@missing.png @text.png @large.png", []]);
    expect(problems).toEqual([
      "text.png is not a PNG, JPEG, GIF or WebP image. Convert it to one of these.",
      "large.png has 4.0 MB, and models take at most 3.9 MB. Scale it down.",
    ]);
  });
});
