import { describe, expect, it } from "vitest";
import { imageProblem } from "./image-problem.ts";
import { fitMedia } from "./fit-media.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("the media type of an image or a file", () => {
  it.each(["image/jpeg", "image/jpg", "IMAGE/PNG", "image/png; charset=binary", "application/octet-stream", ""])(
    "is that of its bytes, whatever was declared: %j",
    (mediaType) => {
      expect(fitMedia({ type: "image", mediaType, data: PNG })).toEqual({ type: "image", mediaType: "image/png", data: PNG });
      expect(imageProblem({ type: "image", mediaType, data: PNG }, "anthropic-messages")).toBeUndefined();
    },
  );

  it("is the registered one where there are no known bytes", () => {
    expect(fitMedia({ type: "image", mediaType: "image/jpg", url: "https://example.com/a" }).mediaType).toBe("image/jpeg");
    expect(fitMedia({ type: "image", mediaType: "Image/JPG", data: "QQ==" }).mediaType).toBe("image/jpeg");
    expect(fitMedia({ type: "file", mediaType: "text/plain; charset=utf-8", data: "QQ==" }).mediaType).toBe("text/plain; charset=utf-8");
  });

  it("is taken from the bytes of a data: address", () => {
    const part = fitMedia({ type: "image", mediaType: "image/jpeg", url: `data:image/jpeg;base64,${PNG}` });
    expect(part).toMatchObject({ mediaType: "image/png", data: PNG });
  });

  it("is PDF for a file that is one", () => {
    const data = Buffer.from("%PDF-1.7\n").toString("base64");
    expect(fitMedia({ type: "file", mediaType: "application/octet-stream", data }).mediaType).toBe("application/pdf");
  });

  it("leaves a part that fits the same object", () => {
    const part = { type: "image", mediaType: "image/png", data: PNG } as const;
    expect(fitMedia(part)).toBe(part);
  });
});
