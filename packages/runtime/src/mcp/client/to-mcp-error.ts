import { McpError, type McpFailure } from "@keelson/protocol";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { causedBy } from "./authorization/failures.ts";
import type { ClientSdk } from "./load-sdk.ts";

const UNAUTHORIZED = new Set([401, 403]);

// What is wrong with a result may be told at great length.
const MAX_WORDS = 1000;

/**
 * What went wrong with a server as an error of the protocol.
 * @param doing what was asked of it, as in "calling search"
 * @param ending why the connection is gone, where it is
 */
export function toMcpError(sdk: ClientSdk, server: string, doing: string, error: unknown, ending?: string): McpError {
  const ours = causedBy(error);
  if (ours !== undefined) return ours;
  const isGone = error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed && ending !== undefined;
  const words = isGone ? ending : describeThrown(error);
  const what = `The server "${server}" failed at ${doing}: ${words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words}`;
  return new McpError(failureOf(sdk, server, what, error), { cause: error });
}

function failureOf(sdk: ClientSdk, server: string, message: string, error: unknown): McpFailure {
  const { SdkErrorCode } = sdk;
  if (error instanceof sdk.UnauthorizedError) return unauthorized(server, message);
  if (error instanceof sdk.SdkHttpError) {
    const { status } = error.data;
    return status !== undefined && UNAUTHORIZED.has(status) ? unauthorized(server, message) : { kind: "transport", server, message };
  }
  if (error instanceof sdk.ProtocolError) return { kind: "protocol", server, message, code: error.code };
  if (!(error instanceof sdk.SdkError)) return { kind: "transport", server, message };
  switch (error.code) {
    case SdkErrorCode.NotConnected:
      return { kind: "not-connected", server, message };
    case SdkErrorCode.ClientHttpAuthentication:
    case SdkErrorCode.ClientHttpForbidden:
      return unauthorized(server, message);
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.SendFailed:
    case SdkErrorCode.RequestTimeout:
    case SdkErrorCode.ClientHttpFailedToOpenStream:
    case SdkErrorCode.ClientHttpNotImplemented:
      return { kind: "transport", server, message };
    default:
      return { kind: "protocol", server, message };
  }
}

function unauthorized(server: string, message: string): McpFailure {
  return { kind: "unauthorized", server, message: `${message}. Check its \`authToken\` or what you logged in with.` };
}
