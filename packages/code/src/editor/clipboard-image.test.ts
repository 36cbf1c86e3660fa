import { describe, expect, it } from "vitest";
import { readClipboardImage } from "./clipboard-image.ts";

const none = async (): Promise<undefined> => undefined;

function programs(outputs: { readonly [line: string]: string | Buffer }): {
  readonly run: (program: string, args: readonly string[]) => Promise<Buffer | undefined>;
  readonly ran: string[];
} {
  const ran: string[] = [];
  return {
    ran,
    async run(program, args) {
      const line = [program, ...args].join(" ");
      ran.push(line);
      const output = outputs[line] ?? outputs[program];
      return output === undefined ? undefined : Buffer.from(output);
    },
  };
}

describe("readClipboardImage", () => {
  it("takes the image that the system gives", async () => {
    expect(await readClipboardImage({ environment: {}, native: async () => Buffer.from("png") })).toEqual(Buffer.from("png"));
  });

  it("reads the best type with wl-paste, and with xclip if that does not work", async () => {
    const wayland = programs({
      "wl-paste --list-types": "text/plain\nimage/jpeg\nimage/png\n",
      "wl-paste --no-newline --type image/png": "png",
    });
    expect(await readClipboardImage({ environment: { WAYLAND_DISPLAY: "w" }, native: none, run: wayland.run })).toEqual(Buffer.from("png"));
    const x11 = programs({
      "xclip -selection clipboard -t TARGETS -o": "TARGETS\nimage/gif\n",
      "xclip -selection clipboard -t image/gif -o": "gif",
    });
    expect(await readClipboardImage({ environment: { WAYLAND_DISPLAY: "w", DISPLAY: ":0" }, native: none, run: x11.run })).toEqual(
      Buffer.from("gif"),
    );
  });

  it("asks PowerShell in WSL", async () => {
    const { run } = programs({ "powershell.exe": `${Buffer.from("png").toString("base64")}\r\n` });
    expect(await readClipboardImage({ environment: { WSL_DISTRO_NAME: "Debian" }, native: none, run })).toEqual(Buffer.from("png"));
  });

  it("distinguishes a clipboard without an image from one that cannot be read", async () => {
    const { run } = programs({ "wl-paste --list-types": "text/plain\n" });
    await expect(readClipboardImage({ environment: { WAYLAND_DISPLAY: "w" }, native: none, run })).rejects.toThrow(
      "The clipboard has no image. Copy one",
    );
    await expect(readClipboardImage({ environment: {}, native: async () => null })).rejects.toThrow("The clipboard has no image.");
    const nothing = programs({});
    await expect(readClipboardImage({ environment: { DISPLAY: ":0" }, native: none, run: nothing.run })).rejects.toThrow(
      "cannot be read here",
    );
    await expect(readClipboardImage({ environment: {}, native: none, run: nothing.run })).rejects.toThrow(
      "needs wl-paste (Wayland), xclip (X11)",
    );
    expect(nothing.ran).toEqual(["xclip -selection clipboard -t TARGETS -o"]);
  });
});
