#!/usr/bin/env node
export const ran = 1;
