export { nearestName } from "@keelson/protocol";
