//! The `infergate` binary: builds the context, runs the command line, ends the process.

fn main() -> std::process::ExitCode {
    infergate::cli::main()
}
