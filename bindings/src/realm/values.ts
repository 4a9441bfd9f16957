/** Part of the harness itself: the intrinsics that compare, print and encode values. */

import { values } from "../std-values";

export default () => values;
