import { bundle } from "@reelkeep/local/bundle";

/** The processes of a stack run as bundles. */
export default bundle;
