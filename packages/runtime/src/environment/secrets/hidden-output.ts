import type { ExecuteRequest, ExecuteResponse } from "@keelson/protocol";
import { createKeptOutput, type KeptOutput } from "../execution/kept-output.ts";

/** Takes secrets out of text that comes in pieces. */
export interface PieceHider {
  /** @returns the text that is certain to hold no secret */
  push(piece: string): string;
  /** @returns the rest */
  end(): string;
}

const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs a command whose output comes back without secrets. They are taken out before long output is cut, because half of one would not be found
 * again.
 * @param run - is given no store of blobs, which would keep the output as it was
 */
export async function withHiddenOutput<Response extends ExecuteResponse>(
  request: ExecuteRequest,
  newHider: () => PieceHider,
  run: (changed: Pick<ExecuteRequest, "onOutput" | "blobs">) => Promise<Response>,
): Promise<Response> {
  const [stdout, stderr] = [hiddenOutput(newHider, request, "stdout"), hiddenOutput(newHider, request, "stderr")];
  const onOutput = (stream: "stdout" | "stderr", text: string): void => (stream === "stdout" ? stdout : stderr).push(text);
  const ran = await run({ blobs: undefined, onOutput }).catch((error: unknown) => {
    // A command that was cancelled printed this, too.
    stdout.end("");
    stderr.end("");
    throw error;
  });
  const { stdoutBlob: _stdout, stderrBlob: _stderr, ...response } = ran;
  const hidden = { stdout: stdout.end(response.stdout), stderr: stderr.end(response.stderr) };
  const [stdoutBlob, stderrBlob] = [await stdout.blob(), await stderr.blob()];
  return { ...response, ...hidden, ...(stdoutBlob && { stdoutBlob }), ...(stderrBlob && { stderrBlob }) } as Response;
}

interface HiddenOutput {
  push(text: string): void;
  /** @param whole - the output that the executor kept, which counts if it passed on nothing before */
  end(whole: string): string;
  blob: KeptOutput["blob"];
}

function hiddenOutput(newHider: () => PieceHider, request: ExecuteRequest, stream: "stdout" | "stderr"): HiddenOutput {
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = request;
  const kept = createKeptOutput(maxOutputBytes, request.blobs);
  const hider = newHider();
  let hasPassed = false;
  const tell = (text: string): void => {
    if (text === "") return;
    kept.push(Buffer.from(text, "utf8"));
    request.onOutput?.(stream, text);
  };
  return {
    push(text) {
      hasPassed = true;
      tell(hider.push(text));
    },
    end(whole) {
      if (!hasPassed) tell(hider.push(whole));
      tell(hider.end());
      return kept.text();
    },
    blob: () => kept.blob(),
  };
}
