//! The load client: sends the plan, times what comes back.
