import { answeredTwice, deliveredToTwo, late, lostAcknowledgement, refused, repeated, slow } from "./delivery-faults.ts";
import type { ChaosFault } from "./fault.ts";
import {
  contextOverflow,
  emptyStream,
  garbledCalls,
  halfStream,
  noResponse,
  overloaded,
  rateLimited,
  serverError,
  slowStream,
  streamReset,
} from "./model-faults.ts";
import { clockBackward, clockForward, crashAfter, crashAmid, crashBefore, frozenAfter, frozenBefore } from "./process-faults.ts";

type ProcessFault = "crashBefore" | "crashAfter" | "crashAmid" | "frozenBefore" | "frozenAfter" | "clockForward" | "clockBackward";
type DeliveryFault = "refused" | "lostAcknowledgement" | "repeated" | "deliveredToTwo" | "late" | "slow" | "answeredTwice";
type ModelFault =
  | ("rateLimited" | "serverError" | "overloaded" | "noResponse" | "contextOverflow")
  | ("streamReset" | "halfStream" | "emptyStream" | "garbledCalls" | "slowStream");

/** The faults that come with the kit. */
export const chaosFaults: { readonly [Name in ProcessFault | DeliveryFault | ModelFault]: ChaosFault } = {
  crashBefore,
  crashAfter,
  crashAmid,
  frozenBefore,
  frozenAfter,
  refused,
  lostAcknowledgement,
  repeated,
  deliveredToTwo,
  late,
  slow,
  answeredTwice,
  rateLimited,
  serverError,
  overloaded,
  noResponse,
  streamReset,
  halfStream,
  emptyStream,
  garbledCalls,
  contextOverflow,
  slowStream,
  clockForward,
  clockBackward,
};
