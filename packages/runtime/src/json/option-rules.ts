export { BOUND, FLAG, FUNCTION, POSITIVE } from "@keelson/protocol";
