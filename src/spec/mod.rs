//! The pinned spec: YAML to a value that cannot hold a contradiction.
