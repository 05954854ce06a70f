//! Reading and promoting the sessions that candidates are compared with.
