# A program that answers a request to end as its first word says, and notes each start, with its process, in the file named by its
# second one, once it is ready.
ready() { echo "$answer $$" >>"$2"; }
forever() { while :; do sleep 1 & wait $!; done; }
answer=$1
case $answer in
dies) ready "$@"; exec sleep 1000 ;;
ignores) trap '' TERM INT HUP; ready "$@"; forever ;;
exits_0) trap 'exit 0' TERM INT HUP; ready "$@"; forever ;;
exits_1) trap 'exit 1' TERM INT HUP; ready "$@"; forever ;;
exits_143) trap 'exit 143' TERM INT HUP; ready "$@"; forever ;;
python) ready "$@"; exec python3 -c 'import time; time.sleep(1000)' ;;
node) ready "$@"; exec node -e 'setInterval(() => {}, 60000)' ;;
by_itself_143) ready "$@"; exit 143 ;;
by_itself_3) ready "$@"; exit 3 ;;
well) ready "$@" ;;
esac
